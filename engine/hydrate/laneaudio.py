"""The stretch of a recorded track that an item of the conversation may claim (contract 1.5, 2.8)."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from engine.hydrate.call import Call
from engine.sources.audio import Track, measure

_measured: weakref.WeakKeyDictionary[Call, dict[Track, Track]] = weakref.WeakKeyDictionary()


class Stretch(NamedTuple):
    """From when to when something sounded on the call clock; `reason` says why it claims no range."""

    start_ms: float | int | None
    end_ms: float | int | None
    reason: str | None = None


def stretch_of(call: Call, started: int | None, ended: int | None) -> Stretch:
    """From one event to another; None is an event that was not recorded."""
    marks = [event for event in (started, ended) if event is not None]
    derived = any(call.clock_name(event) == "derived" for event in marks)
    return Stretch(
        None if started is None else call.clock_ms(started),
        None if ended is None else call.clock_ms(ended),
        "its clock is derived, which claims no audio range" if derived else None,
    )


def aligned(call: Call, name: str) -> Track | str:
    """The track of a speaker (else the mixed one) that lies on the call clock, or why there is none."""
    reason = f"no {name} track was recorded"
    for wanted in (name, "mixed"):
        for track in call.parts.tracks:
            if track.track != wanted:
                continue
            if track.unavailable is None and track.clock_offset_ms is not None:
                return track
            reason = track.unavailable or track.offset_reason or reason
    return reason


def audio_range(call: Call, name: str, stretch: Stretch) -> dict[str, Any]:
    """The range of a stretch, on the call clock, in the track of its speaker; else why it has none."""
    start, end, reason = stretch
    if reason is None and (start is None or end is None):
        reason = "its start and end were not both recorded"
    track = aligned(call, name)
    if isinstance(track, str):
        reason = reason or track
    if reason is not None or isinstance(track, str):
        return {"status": "unavailable", "reason": reason}
    assert start is not None
    assert end is not None
    known = _in_file(call, track)
    problem = known if isinstance(known, str) else _outside(known, start, end)
    if problem is not None:
        return {"status": "unavailable", "reason": problem}
    return {
        "status": "available",
        "track": track.track,
        "start_ms": start,
        "end_ms": end,
        "perspective": track.perspective,
    }


def _in_file(call: Call, track: Track) -> Track | str:
    """The track as its file is, measured once, or why it is no evidence."""
    tracks = _measured.setdefault(call, {})
    known = tracks.get(track)
    if known is None:
        known = tracks[track] = measure(track, call.parts.files)
    return known if known.unavailable is None else known.unavailable


def _outside(track: Track, start: float, end: float) -> str | None:
    offset = track.clock_offset_ms
    if offset is None or not track.sample_rate or track.frames is None:
        return f"{track.name} has no known length"
    if end < start:
        return "it ends before it starts"
    if start < offset:
        return f"it starts before {track.name} does"
    if end > offset + track.frames * 1000 / track.sample_rate:
        return f"it ends after {track.name} does"
    return None
