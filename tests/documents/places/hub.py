"""A small server that answers as the Hugging Face hub does to those who read files of a dataset."""

import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0" * 40
REPOSITORY = "user/name"


def serve(files):
    """Return a server, not yet started, of a dataset with these files."""

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            path = unquote(urlsplit(self.path).path)
            base = f"/api/datasets/{REPOSITORY}"
            if path == base or path == f"{base}/revision/main":
                return self._json({"id": REPOSITORY, "sha": COMMIT, "siblings": [], "private": False, "tags": []})
            if found := re.fullmatch(rf"{base}/tree/[^/]+/?(.*)", path):
                return self._json(_tree(found[1], "recursive=true" in self.path.lower()) or None)
            if found := re.fullmatch(rf"/datasets/{REPOSITORY}/resolve/[^/]+/(.+)", path):
                return self._send(files.get(found[1]))
            return self._json(None)

        do_HEAD = do_GET

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            text = body.decode()
            names = json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
            found = [_entry(name) for name in names if name in files]
            folders = [name for name in names if any(file.startswith(name + "/") for file in files)]
            self._json(found + [_folder(name) for name in folders])

        def _json(self, value):
            self._send(None if value is None else json.dumps(value).encode(), "application/json")

        def _send(self, content, kind="application/octet-stream"):
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
            self.send_response(404 if content is None else 206 if wanted else 200)
            content = content or b""
            if wanted:
                first, last, size = int(wanted[1]), int(wanted[2]), len(content)
                content = content[first : last + 1]
                self.send_header("Content-Range", f"bytes {first}-{first + len(content) - 1}/{size}")
            self.send_header("Content-Type", kind)
            self.send_header("ETag", hashlib.sha1(content).hexdigest())
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    def _tree(prefix, is_recursive):
        inside = [name for name in files if not prefix or name.startswith(prefix + "/")]
        folders = {name.rpartition("/")[0] for name in inside} - {"", prefix}
        direct = [name for name in inside if name.rpartition("/")[0] == prefix]
        return [_entry(name) for name in (inside if is_recursive else direct)] + [_folder(name) for name in folders]

    def _folder(name):
        return {"type": "directory", "path": name, "size": 0, "oid": COMMIT}

    def _entry(name):
        return {"type": "file", "path": name, "size": len(files[name]), "oid": hashlib.sha1(files[name]).hexdigest()}

    return ThreadingHTTPServer(("127.0.0.1", 0), Hub)
