"""A stand-in for the voice runtime: it keeps the state of a call and writes every event as one ledger row."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec

from benchmarks.flow import EDGES
from engine.canonical import fingerprint

SESSION = "b1"
EPOCH = 1_783_692_131
"""Wall clock of call clock 0, in seconds."""
WITH_TURN = frozenset(
    {"state_entered", "transition_committed", "state_context_snapshot", "caller_transcript", "input_selected",
     "locked_choice_evaluated", "turn_complete", "session_started", "session_ended"}
)  # fmt: skip
"""Kinds whose rows say the turn. In the samples all do; left out, a row has about 220 bytes."""
WITH_STATE = frozenset({"state_entered", "state_exited", "state_slot_snapshot", "state_context_snapshot"})
"""Kinds whose rows name the state beside the visit, likewise."""
_FLUSH = 1 << 22
_REDACTED = "<str:11>"


class Recorder:
    """Emits rows in recorded shape, with true `old` values, fingerprints and ids.

    Attributes:
        seq, clock, turn: Of the last row.
        written: Bytes so far.
    """

    def __init__(self, sink: BinaryIO) -> None:
        self.seq = self.clock = self.turn = self.written = 0
        self._sink = sink
        self._buffer = bytearray()
        self._encode = msgspec.json.Encoder().encode_into
        self._state = self._visit = ""
        self._ordinals = dict.fromkeys(EDGES, 0)
        self._ids = dict.fromkeys(("in", "play", "out", "req", "att", "tool"), 0)
        self._recent: list[str] = []
        self._streak = 0
        self._epoch = 0
        self.slots: dict[str, Any] = {}

    def emit(self, event: str, /, **payload: Any) -> None:
        """Write one row that names the open visit."""
        self.seq += 1
        row: dict[str, Any] = {
            "seq": self.seq,
            "ts": EPOCH + self.clock / 1000,
            "type": event,
            "session_id": SESSION,
            "clock_ms": self.clock,
        }
        if self._visit and event != "transition_committed":
            row["visit_id"] = self._visit
        if event in WITH_STATE:
            row["state_id"] = self._state
        if event in WITH_TURN:
            row["turn_index"] = self.turn
        row |= payload
        buffer = self._buffer
        self._encode(row, buffer, len(buffer))
        buffer += b"\n"
        if len(buffer) > _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Hand the rows so far to the file."""
        self.written += len(self._buffer)
        self._sink.write(self._buffer)
        self._buffer.clear()

    # --- ids -------------------------------------------------------------------------------------------

    def new(self, name: str) -> str:
        """A fresh id of a family."""
        self._ids[name] += 1
        return f"{name}:{self._ids[name]}"

    @property
    def state(self) -> str:
        """The state of the open visit."""
        return self._state

    @property
    def visit(self) -> str:
        """The id of the open visit."""
        return self._visit

    @property
    def epoch(self) -> int:
        """The next decision epoch."""
        self._epoch += 1
        return self._epoch

    # --- the life of a call ----------------------------------------------------------------------------

    def begin(self, initial: str, slots: dict[str, Any], flow: dict[str, Any]) -> None:
        """Session, seeds and the first visit."""
        self.slots = {"caller": _REDACTED} | slots
        self.emit("session_started", initial_state=initial, flow_id=flow["flow_id"],
                  flow_version=flow["flow_version"], kind="phone", transport="telnyx_outbound")  # fmt: skip
        seeds: dict[str, Any] = {
            slot: {"value": value, "writer": "prior_call"} for slot, value in self.slots.items()
        }
        seeds["caller"] |= {"classification": "pii"}
        self.emit("session_slots_seeded", slots=seeds, fingerprint=fingerprint(self.slots))
        self._open(initial)
        self.emit("state_entered")

    def _open(self, state: str) -> None:
        self._ordinals[state] += 1
        self._state, self._visit = state, f"{state}#{self._ordinals[state]}"

    def write(self, slot: str, value: Any, kind: str, writer: str, **more: Any) -> None:
        """Change a slot; None removes it."""
        if value is None:
            self.emit("slot_write", slot=slot, old=self.slots.pop(slot), new=None, kind=kind, writer=writer,
                      present=False, **more)  # fmt: skip
            return
        self.emit(
            "slot_write", slot=slot, old=self.slots.get(slot), new=value, kind=kind, writer=writer, **more
        )
        self.slots[slot] = value

    def guard(self, edge: int, result: bool) -> None:
        """One guard of the open state."""
        text = EDGES[self.state][edge].when
        slots = [text.split(":")[1]] if text.startswith("slot_") else []
        self.emit("guard_evaluated", guard=text, result=result, slots_read=slots,
                  edge_id=f"{self.state}:{edge}")  # fmt: skip

    def verdict(self, winner: int | None) -> None:
        """The verdict: edges before the winner were no, those after it are shadowed."""
        state = self.state
        candidates = [
            {
                "to": edge.to,
                "when": edge.when,
                "result": "matched"
                if index == winner
                else "no"
                if winner is None or index < winner
                else "shadowed",
                "edge_id": f"{state}:{index}",
            }
            for index, edge in enumerate(EDGES[state])
        ]
        won = None if winner is None else f"{state}:{winner}"
        self.emit("transition_verdict", winner=won, candidates=candidates, final=winner is not None)

    def take(self, winner: int) -> None:
        """Verdict, boundary writes, exit, entry and commit of one edge."""
        source, edge = self.state, EDGES[self.state][winner]
        edge_id = f"{source}:{winner}"
        self.verdict(winner)
        for slot, value in edge.sets:
            self.write(slot, value, "transition_set", f"edge:{edge_id}", edge_id=edge_id)
        for slot in edge.clears:
            self.write(slot, None, "transition_clear", f"edge:{edge_id}", edge_id=edge_id)
        self.emit("state_slot_snapshot", phase="exit", fingerprint=fingerprint(self.slots), slots=self.slots)
        self.emit("state_exited", to_state=edge.to, reason=edge.reason, edge_id=edge_id)
        self._recent = [source, *self._recent][:2]
        self._streak = (self._streak + 1) % 3 if edge.when in ("timeout", "stalled") else 0
        self._open(edge.to)
        self.emit("state_entered", from_state=source, edge_id=edge_id)
        self._context()
        self.emit("transition_committed", from_state=source, to_state=edge.to, reason=edge.reason,
                  edge_id=edge_id)  # fmt: skip

    def _context(self) -> None:
        context = {
            "turn_count": self.turn, "decision_epoch": self._epoch, "pending_transition": None,
            "recent_states": self._recent, "no_progress_streak": self._streak, "max_no_progress_loops": 2,
        }  # fmt: skip
        self.emit("state_context_snapshot", phase="entry", **context,
                  context_fingerprint=fingerprint(context))  # fmt: skip

    def end_turn(self) -> None:
        """Close the turn."""
        self.emit("turn_complete")
        self.turn += 1
