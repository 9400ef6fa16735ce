"""Files on servers: the same documents as on disk, from a real S3 and HTTP server on this machine, and in memory."""

import functools
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from tests.documents.places.hub import serve

import sosie
from sosie.documents import Source
from sosie.documents.inputs import list_inputs
from sosie.errors import DataError, UsageError

fsspec = pytest.importorskip("fsspec")
pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = [f"text number {number % 15} of many which are not the same {number % 15}" for number in range(20)]


def parquet():
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [f"p{number}" for number in range(20)], "text": TEXTS}), sink)
    return sink.getvalue()


def feather():
    sink = io.BytesIO()
    pf.write_feather(pa.table({"id": [f"f{number}" for number in range(20)], "text": TEXTS}), sink)
    return sink.getvalue()


LINES = "".join(json.dumps({"id": f"l{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)).encode()
FILES = {
    "a.jsonl.gz": gzip.compress(LINES),
    "sub/b.parquet": parquet(),
    "sub/c.feather": feather(),
    "sub/d.txt": b"a text alone",
    "sub/e.md": b"and another",
    ".hidden.txt": b"nothing",
    "picture.png": b"\x89PNG",
}


@pytest.fixture(scope="module")
def s3():
    """A server that speaks S3."""
    moto = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        system = fsspec.filesystem("s3", skip_instance_cache=True)
        system.mkdir("bucket")
        for name, content in FILES.items():
            system.pipe(f"bucket/docs/{name}", content)
        yield "s3://bucket/docs"
    server.stop()


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    for name, content in FILES.items():
        system.pipe(f"/remote/{name}", content)  # a folder that no other test has
    yield "memory://remote"
    system.rm("/remote", recursive=True)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "web/sub").mkdir(parents=True)
    for name, content in FILES.items():
        (tmp_path / "web" / name).write_bytes(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path / "web")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def texts_of(source):
    return [text for batch in source.batches() for text in batch.texts.to_pylist()]


@pytest.mark.parametrize("where", ["s3", "memory"])
def test_a_folder_on_a_server_is_one_on_disk(where, request, tmp_path):
    url = request.getfixturevalue(where)
    for name, content in FILES.items():
        (tmp_path / "disk" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "disk" / name).write_bytes(content)
    there = sosie.dedup(url, output=tmp_path / "there")
    here = sosie.dedup(tmp_path / "disk", output=tmp_path / "here")
    assert there.dropped.equals(here.dropped) and there.report.counts == here.report.counts
    for folder in ("kept", "dropped"):
        written = {
            file.relative_to(tmp_path / "here"): file.read_bytes() for file in (tmp_path / "here" / folder).rglob("*.*")
        }
        assert written == {path: (tmp_path / "there" / path).read_bytes() for path in written} and written
    assert all(each.path.startswith(url.partition("://")[0]) for each in there.report.inputs)


@pytest.mark.parametrize("where", ["s3", "memory"])
def test_patterns_files_and_choices(where, request):
    url = request.getfixturevalue(where)
    assert texts_of(Source(f"{url}/a.jsonl.gz")) == TEXTS
    assert texts_of(Source(f"{url}/sub/*.parquet")) == TEXTS
    assert texts_of(Source(url, include="*.txt")) == ["a text alone"]
    assert texts_of(Source(f"{url}/sub", format="text", include=["*.md", "*.txt"])) == ["a text alone", "and another"]
    with pytest.raises(UsageError, match=r"none\.jsonl: no such file"):
        texts_of(Source(f"{url}/none.jsonl"))
    with pytest.raises(UsageError, match="leads to no file"):
        texts_of(Source(f"{url}/*.csv"))
    with pytest.raises(UsageError, match="given twice"):
        texts_of(Source([f"{url}/a.jsonl.gz"] * 2))
    with pytest.raises(UsageError, match=r"picture\.png: unknown kind of file"):
        texts_of(Source(f"{url}/picture.png"))


def test_files_of_a_web_server(web):
    for name in ("a.jsonl.gz", "sub/b.parquet", "a.jsonl.gz?token=1"):
        assert texts_of(Source(f"{web}/{name}")) == TEXTS
    assert texts_of(Source(f"{web}/sub/d.txt")) == ["a text alone"]
    with pytest.raises(UsageError, match=r"none\.jsonl: no such file"):
        texts_of(Source(f"{web}/none.jsonl"))


def test_a_dataset_of_the_hub(tmp_path):
    pytest.importorskip("huggingface_hub")
    server = serve(FILES)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    script = (
        "import sys, sosie\n"
        "for url in sys.argv[1:]:\n"
        "    print(sum(len(batch) for batch in sosie.Source(url).batches()))\n"
    )
    url = "hf://datasets/user/name"
    # The address of the hub is read when its package is loaded.
    environment = {**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path)}
    try:
        urls = [url, f"{url}/a.jsonl.gz", f"{url}/sub/*.parquet"]
        done = subprocess.run([sys.executable, "-c", script, *urls], env=environment, capture_output=True, text=True)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert done.stdout.split() == ["62", "20", "20"], done.stderr


def test_a_file_that_changes_on_the_server(memory):
    reading = Source(f"{memory}/a.jsonl.gz", batch_size=1).batches(1)
    next(reading)
    fsspec.filesystem("memory").pipe("/remote/a.jsonl.gz", gzip.compress(LINES[:-1] + b" "))
    with pytest.raises(DataError, match=r"a\.jsonl\.gz: changed while it was being read"):
        list(reading)
    fsspec.filesystem("memory").rm("/remote/sub/d.txt")


def test_names_of_files_that_would_be_the_same(memory, tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(FILES["a.jsonl.gz"])
    first, second = list_inputs([f"{memory}/a.jsonl.gz", tmp_path / "a.jsonl.gz"])
    assert first.name != second.name and first.name.endswith("remote/a.jsonl.gz")


def test_a_saved_dataset(memory):
    system = fsspec.filesystem("memory")
    table, sink = pa.table({"text": TEXTS}), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    system.pipe("/remote/saved/data-0.arrow", sink.getvalue())
    system.pipe("/remote/saved/cache-1.arrow", b"another")
    system.pipe("/remote/saved/state.json", json.dumps({"_data_files": [{"filename": "data-0.arrow"}]}).encode())
    assert texts_of(Source(f"{memory}/saved")) == TEXTS


def test_what_is_not_installed_is_said(monkeypatch):
    for url, message in [
        ("gs://bucket/a.jsonl", "pip install gcsfs"),
        ("nowhere://bucket/a.jsonl", "Protocol not known"),
    ]:
        with pytest.raises(UsageError, match=message):
            Source(url).batches()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for url, message in [
        ("s3://bucket/a.jsonl", r"need the package fsspec.*pip install 'sosie\[remote\]', for s3:// 'sosie\[s3\]'"),
        ("hf://datasets/a/b/c.jsonl", r"for hf:// 'sosie\[hf\]'"),
    ]:
        with pytest.raises(UsageError, match=message):
            Source(url).batches()


def test_a_url_of_this_machine_needs_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    (tmp_path / "a.txt").write_text("a rose")
    assert texts_of(Source(f"file://{tmp_path}/a.txt")) == ["a rose"]
