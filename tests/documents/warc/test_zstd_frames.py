"""Frames of zstd end where their encoder ended them."""

import io

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.warc.warcs import zstd

from sosie.documents.warc.zstd_frames import frame_end, read_dictionary


def packed(content, encoder):
    if encoder == "arrow":
        return pa.compress(content, "zstd", asbytes=True)
    if encoder == "stream":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return sink.getvalue().to_pybytes()
    return zstd(content)


@given(
    st.lists(
        st.tuples(
            st.binary(max_size=50), st.sampled_from([0, 1, 300, 9000]), st.sampled_from(["arrow", "stream", "warc"])
        ),
        max_size=4,
    ),
    st.binary(max_size=9),
)
@settings(max_examples=60, deadline=None)
def test_every_frame_ends_where_the_next_begins(contents, skipped):
    frames = [packed(part * times, encoder) for part, times, encoder in contents]
    frames = [frame for frame in frames if frame]
    frames.append(b"\x53\x2a\x4d\x18" + len(skipped).to_bytes(4, "little") + skipped)
    data = b"".join(frames)
    here, found = 0, []
    while here < len(data):
        end = frame_end(io.BytesIO(data), here)
        found.append(data[here:end])
        here = end
    assert found == frames
    for cut in range(1, len(frames[0])):
        with pytest.raises(ValueError, match=r"the file ends inside a frame|no frame"):
            frame_end(io.BytesIO(frames[0][:cut]), 0)
    assert read_dictionary(io.BytesIO(data)) == b""
    front = b"\x5d" + frames[-1][1:]
    assert read_dictionary(io.BytesIO(front + data)) == front
