"""A ledger read by two processes gives what one process gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.canonical import fingerprint
from engine.hydrate.document import artifact_bytes
from engine.hydrate.pipeline import open_call
from engine.model.errors import EngineError
from engine.sources import folder, halves
from engine.sources.otherhalf import Checked
from tests.calls import flow, manifest, row, write_call

CONTEXT = {"turn_count": 1, "recent_states": ["menu"], "decision_epoch": 0}


def rows(count: int) -> list[dict[str, object] | str]:
    """Regular rows with an odd one, a wrong and a right fingerprint in either half."""
    made: list[dict[str, object] | str] = [row(1, "session_started", 0, initial_state="menu")]
    made += [row(seq, "caller_audio_started", seq, input_id=f"in:{seq}") for seq in range(2, count)]
    for at in (count // 5, count - count // 5):
        made[at] = "{broken"
        made[at + 1] = row(at + 2, "slot_write", 5, slot=7, new="x")
        for offset, stated in ((2, fingerprint(CONTEXT)), (3, "sha256:wrong")):
            made[at + offset] = row(
                at + offset + 1, "state_context_snapshot", 6, phase="entry",
                context_fingerprint=stated, **CONTEXT,
            )  # fmt: skip
        made[at + 4] = row(
            at + 5, "state_slot_snapshot", 7, phase="entry", slots={"b": 1, "a": 2.5}, fingerprint="sha256:no"
        )
        made[at + 5] = row(at + 6, "never_heard_of", 8, state_id=f"state {at}", visit_id=f"visit {at}")
    return made


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAPPED_BYTES", 0)
    monkeypatch.setattr(halves, "SPLIT_BYTES", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)


@pytest.fixture
def call(tmp_path: Path) -> Path:
    return write_call(tmp_path, events=rows(60), flow=flow(), manifest=manifest())


def test_two_processes_read_what_one_reads(call: Path, request: pytest.FixtureRequest) -> None:
    alone = artifact_bytes(open_call(call))
    request.getfixturevalue("split")
    assert artifact_bytes(open_call(call)) == alone
    assert alone.count(b'"finding_id":"FINGERPRINT_MISMATCH:') == 4
    assert alone.count(b'"finding_id":"MALFORMED_LINE:') == 4  # each in both ledgers


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit(1)",
        "import sys; sys.stdout.write('no pickle')",
        "import engine.sources.otherhalf as h; h._check = lambda *a: h.os._exit(1); h.main()",
        "import engine.sources.otherhalf as h; h.wrong_contexts_at = lambda *a: 1 / 0; h.main()",
    ],
    ids=["dies at once", "says nothing sensible", "dies while it tells", "dies while it checks"],
)
def test_a_helper_that_fails_is_made_up_for(
    call: Path, program: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    alone = artifact_bytes(open_call(call))
    request.getfixturevalue("split")
    monkeypatch.setattr(halves, "_RUN", program)
    assert artifact_bytes(open_call(call)) == alone


def test_the_helper_runs_nothing_of_the_working_folder(
    call: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, split: None
) -> None:
    ran = tmp_path / "ran"
    for name in ("engine", "numpy", "msgspec"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"open({str(ran)!r}, 'w')")
    helped: list[bool] = []
    checked = halves._Helper.checked

    def listen(helper: halves._Helper) -> Checked | None:
        found = checked(helper)
        helped.append(found is not None)
        return found

    monkeypatch.setattr(halves._Helper, "checked", listen)
    monkeypatch.chdir(tmp_path)
    open_call(call)
    assert not ran.exists()
    assert helped == [True, True]  # both ledgers


@pytest.mark.parametrize("at", [3, 55])
def test_a_line_too_deep_in_either_half_is_refused(at: int, tmp_path: Path, split: None) -> None:
    made = rows(60)
    made[at] = f'{{"seq": {at + 1}, "type": "note", "a": {"[" * 70}{"]" * 70}}}'
    with pytest.raises(EngineError, match=rf"line {at + 1}:?( JSON)? nests deeper than 64") as caught:
        open_call(write_call(tmp_path, events=made))
    assert caught.value.code == "LIMIT_EXCEEDED"
    assert caught.value.details["limit"] == "json_depth"


def test_many_levels_that_are_compared_are_refused(tmp_path: Path, split: None) -> None:
    made = rows(60)
    deep = f"{'[' * 900}{']' * 900}"
    for seq in (50, 51):
        made[seq - 1] = f'{{"seq": {seq}, "type": "slot_write", "slot": "a", "old": {deep}, "new": {deep}, ' \
                        '"kind": "direct", "writer": "w"}'  # fmt: skip
    with pytest.raises(EngineError, match="nests deeper"):
        open_call(write_call(tmp_path, events=made))
