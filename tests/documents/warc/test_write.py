"""WARC to kept and dropped: every record in one place, byte for byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.test_files import contents, read
from tests.documents.warc.test_blocks import IDS, RECORDS, save
from tests.documents.warc.warcs import PACK
from tests.documents.writing import write

from sosie.documents import Source, blocks
from sosie.errors import DataError

DOCUMENTS = [2, 4, 5, 6]


@pytest.mark.parametrize("suffix", PACK)
def test_nothing_dropped_is_the_same_file(tmp_path, suffix):
    path = save(tmp_path / "in", suffix, RECORDS)
    counts = write(Source(path), {}, tmp_path / "out")
    assert (counts.kept, counts.dropped, counts.rejected) == (4, 0, 0)
    assert contents(tmp_path / "out") == {f"kept/a{suffix}": path.read_bytes()}


@given(
    dropped=st.sets(st.integers(0, 3)),
    suffix=st.sampled_from(list(PACK)),
    size=st.sampled_from([1, 1 << 22]),
    order=st.permutations(range(len(RECORDS))),
)
@settings(max_examples=40, deadline=None)
def test_every_record_goes_to_exactly_one_place(tmp_path_factory, dropped, suffix, size, order):
    folder = tmp_path_factory.mktemp("warc")
    path = save(folder / "in", suffix, [RECORDS[number] for number in order])
    documents = [number for number in order if number in DOCUMENTS]
    gone = {documents[row] for row in dropped}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        write(Source(path), {row: row for row in dropped}, folder / "out")
    pack = PACK[suffix]
    expected = {f"kept/a{suffix}": b"".join(pack(RECORDS[number]) for number in order if number not in gone)}
    if gone:
        expected[f"dropped/a{suffix}"] = b"".join(pack(RECORDS[number]) for number in order if number in gone)
        lines = [f"{documents[row]:08}\t{documents[row]:08}\t{0.5 + row / 64}" for row in sorted(dropped)]
        expected["dropped.tsv"] = "\n".join(["file\tduplicate_of\tsimilarity", *lines, ""]).encode()
    assert contents(folder / "out") == expected


def test_names_with_folders_share_one_list(tmp_path):
    save(tmp_path / "in", ".warc", RECORDS[:3])
    (tmp_path / "in/x").mkdir()
    save(tmp_path / "in/x", ".warc.gz", RECORDS[3:])
    (tmp_path / "in/y.html").write_text("<p>page")
    source = Source(tmp_path / "in")
    write(source, {0: 1, 2: 0, 4: 0}, tmp_path / "out")
    assert sorted(contents(tmp_path / "out")) == [
        "dropped.tsv",
        "dropped/a.warc",
        "dropped/x/a.warc.gz",
        "dropped/y.html",
        "kept/a.warc",
        "kept/x/a.warc.gz",
    ]
    assert (tmp_path / "out/dropped.tsv").read_text().splitlines()[1:] == [
        f"{IDS[0]}\t{IDS[1]}\t0.5",
        f"{IDS[2]}\t{IDS[0]}\t0.53125",
        f"y.html\t{IDS[0]}\t0.5625",
    ]
    assert [name for name, _ in read(Source(tmp_path / "out/kept"))[0]] == [IDS[1], IDS[3]]
    assert [name for name, _ in read(Source(tmp_path / "out/dropped"))[0]] == [IDS[0], IDS[2], "y.html"]


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, suffix):
    path = save(tmp_path, suffix, RECORDS)
    reading = Source(path).batches()
    path.write_bytes(path.read_bytes() + PACK[suffix](RECORDS[2]))
    with pytest.raises(DataError, match=f"a{suffix}: changed while it was being read"):
        list(reading)
