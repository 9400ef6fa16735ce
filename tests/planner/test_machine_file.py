"""The file of the machine's constants: whole or not at all, its owner's, and never the end of a run."""

import json
import logging
import os
import random

import pytest

from sosie.errors import StorageError
from sosie.jobs.planning import machine as measuring
from sosie.planner import machine as planner
from sosie.planner.constants.constant import Constant
from sosie.planner.machine import CONSTANTS, Machine, load_machine, machine_path, read_machine

WIDE = {"64": 1.5, "1024": 9.0}


@pytest.fixture(autouse=True)
def table(monkeypatch, tmp_path):
    """A table with a constant that depends on the width, and a cache folder of its own."""
    monkeypatch.setitem(CONSTANTS, "wide", Constant("a comparison", {64: 1.0, 1024: 8.0}))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for cached in (planner.table_digest, planner._warn):
        cached.cache_clear()
    yield
    planner.table_digest.cache_clear()


@pytest.fixture
def families(monkeypatch):
    """What measures, in small: each subject has one constant."""
    done = []

    def family(name, value):
        def measure(threads):
            done.append((name, threads))
            return {name: value}

        return type("Family", (), {"measure": staticmethod(measure)})

    known = {"a": family("threads", 1.7), "b": family("wide", {64: 1.5, 1024: 9.0})}
    monkeypatch.setattr(measuring, "FAMILIES", tuple(known))
    monkeypatch.setattr(measuring, "import_module", known.__getitem__)
    return done


def said(**changed):
    machine = Machine(planner.cpu_name(), "2030-01-01T00:00:00+00:00", {"threads": 1.5, "wide": {64: 1.5, 1024: 9.0}})
    return machine.to_dict() | changed


def write(value, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_measured_once_and_kept(families, caplog):
    assert load_machine() == Machine(planner.cpu_name())
    machine = measuring.measured_machine(threads=2)
    assert machine.ns("threads") == 1.7 and machine.ns("wide", 1024) == 9.0 and machine.measured
    assert load_machine() == machine == measuring.measured_machine()
    assert families == [("threads", 2), ("wide", 2)]
    measuring.measured_machine(again=True, threads=1)
    assert families[2:] == [("threads", 1), ("wide", 1)]
    assert os.listdir(machine_path().parent) == ["machine.json"] and not caplog.records


@pytest.mark.parametrize(
    "changed", [{"cpu": "another"}, {"version": 0}, {"version": "1"}, {"table": "0"}, {"cpu": None}]
)
def test_another_processor_or_table_is_not_measured_yet(tmp_path, families, changed):
    assert read_machine(write(said(), tmp_path / "m")) == load_machine(tmp_path / "m") != Machine(planner.cpu_name())
    assert read_machine(write(said(**changed), tmp_path / "m")) is None
    assert load_machine(tmp_path / "m") == Machine(planner.cpu_name())
    assert measuring.measured_machine(path=tmp_path / "m").ns("threads") == 1.7


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "recursion"),
        ('{"format": "sosie-machine", "version": ' + "9" * 5000 + "}", "digits"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "Expecting value"),
        (" " * (1 << 20) + "{}", "larger than"),
        ([], "format is not sosie-machine"),
        ({}, "format is not sosie-machine"),
        (said() | {"measured": 3}, "when it was measured"),
        (said() | {"constants": [1]}, "when it was measured, or what"),
        *(
            (said() | {"constants": constants}, why)
            for constants, why in (
                ({"other": 1}, "no constant 'other'"),
                ({"threads": "2"}, "threads is '2'"),
                ({"threads": True}, "threads is True"),
                ({"threads": None}, "threads is None"),
                ({"threads": float("nan")}, "threads is nan"),
                ({"threads": float("inf")}, "threads is inf"),
                ({"threads": -1}, "threads is -1"),
                ({"threads": 0}, "threads is 0"),
                ({"threads": 1e16}, "threads is 1e\\+16"),
                ({"threads": {"64": 1}}, "threads is {"),
                ({"wide": 3}, "wide is not by size"),
                ({"wide": {}}, "wide is not by size"),
                ({"wide": {"": 1}}, "wide is of the size ''"),
                ({"wide": {"-64": 1}}, "wide is of the size '-64'"),
                ({"wide": {"0": 1}}, "wide is of the size '0'"),
                ({"wide": {"64": -3}}, "wide is -3"),
            )
        ),
    ],
)
def test_a_broken_file_is_named_and_no_run_ends_with_it(tmp_path, caplog, families, broken, why):
    if isinstance(broken, dict) and "table" in broken:
        broken["table"] = planner.table_digest()
    file = write(broken, tmp_path / "m")
    with pytest.raises(StorageError, match=why) as raised:
        read_machine(file)
    assert str(raised.value).startswith(f"{file}: ") and "--measure-again" in str(raised.value)
    with caplog.at_level(logging.WARNING, "sosie"):
        assert load_machine(file) == load_machine(file) == Machine(planner.cpu_name())
    assert [record.message for record in caplog.records] == [
        f"{raised.value} Until then a usual machine's constants are taken."
    ]
    assert measuring.measured_machine(path=file) == read_machine(file)


def test_what_cannot_be_read_or_kept_is_said(tmp_path, caplog, families):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match=r"folder: cannot be read \(Is a directory\)"):
        read_machine(tmp_path / "folder")
    (tmp_path / "file").touch()
    assert read_machine(tmp_path / "file" / "m") is None
    with caplog.at_level(logging.WARNING, "sosie"):
        assert measuring.measured_machine(path=tmp_path / "file" / "m").ns("threads") == 1.7
    assert "is not kept" in caplog.text and "file" in caplog.text


def test_a_measurement_that_cannot_be_is_not_kept(monkeypatch, families, tmp_path):
    wrong = type("Wrong", (), {"measure": staticmethod(lambda threads: {"threads": float("nan")})})
    monkeypatch.setattr(measuring, "import_module", lambda name: wrong)
    with pytest.raises(ValueError, match="threads is nan"):
        measuring.measured_machine(path=tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_bytes_changed_at_random_are_numbers_or_a_named_error(tmp_path, families):
    chosen = random.Random(5)
    text = json.dumps(said()).encode()
    for _ in range(500):
        changed = bytearray(text)
        for _ in range(chosen.choice([1, 1, 3])):
            changed[chosen.randrange(len(changed))] = chosen.choice(b'0123456789-.eE{}[]",: \x00\xff')
        file = tmp_path / "m"
        file.write_bytes(bytes(changed))
        try:
            machine = read_machine(file)
        except StorageError:
            continue
        if machine is not None:
            assert 0 < machine.ns("threads") < 1e15 and 0 < machine.ns("wide", 64) < 1e15


def test_between_widths_a_constant_is_on_a_line():
    machine = Machine("", None, {"wide": {64: 2.0, 256: 8.0, 1024: 8.0}})
    widths = (32, 64, 128, 256, 512, 4096)
    assert [round(machine.ns("wide", bits), 9) for bits in widths] == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert Machine("", None, {"wide": {64: 2.0}}).ns("wide", 9999) == 2.0
    assert Machine().ns("wide", 64) == 1.0
    assert [round(Machine().speedup(threads), 2) for threads in (0, 1, 2, 4)] == [1.0, 1.0, 1.9, 3.7]
