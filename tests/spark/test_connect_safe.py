"""Nothing is used but DataFrames and files, so that it runs where a session is all that there is (Spark Connect)."""

from __future__ import annotations

import re
from pathlib import Path

import sosie

FORBIDDEN = (
    r"\bsparkContext\b|\b_jvm\b|\b_jdf\b|\b_jsc\b|\.rdd\b|parallelize|heckpoint\(|\.cache\(|\.persist\("
    r"|monotonically_increasing_id|addPyFile"
)


def test_no_module_uses_what_a_session_of_spark_connect_lacks():
    folder = Path(sosie.__file__).parent / "spark"
    used = {
        f"{file.name}:{number}: {line.strip()}"
        for file in folder.glob("*.py")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if re.search(FORBIDDEN, line)
    }
    assert not used and len(list(folder.glob("*.py"))) > 20
