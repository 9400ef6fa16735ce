"""Every message says what was wrong, where and what to do, and the page of the guide has it to the letter."""

import contextlib
import os

import pytest
from tests.mistakes.page import PAGE, render, said
from tests.mistakes.scene import arrange
from tests.mistakes.table import SECTIONS

MISTAKES = [mistake for mistakes in SECTIONS.values() for mistake in mistakes]


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """What is said of each mistake, by section."""
    with contextlib.chdir(os.path.realpath(tmp_path_factory.mktemp("scene"))):
        arrange()
        before = sorted(os.listdir())
        found = {name: [(each, said(each)) for each in mistakes] for name, mistakes in SECTIONS.items()}
        assert sorted(os.listdir()) == before, "a refused command has left something behind"
    return found


def test_there_are_thirty_and_more():
    assert len(MISTAKES) >= 30 and len({mistake.typed for mistake in MISTAKES}) == len(MISTAKES)


def test_every_message_says_where_and_what_to_do(messages):
    poor = [
        f"{mistake.typed}\n    {message}"
        for found in messages.values()
        for mistake, message in found
        if mistake.where not in message or mistake.remedy not in message or len(message) > 1500
    ]
    assert not poor, "\n".join(poor)


def test_the_page_of_the_guide_has_every_message(messages):
    assert PAGE.read_text("utf-8") == render(messages), "run: python -m tests.mistakes.page, and read the difference"
