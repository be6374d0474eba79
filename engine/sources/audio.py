"""The recorded tracks of a call: what the manifest says of them, and what the files hold (contract 1.5).

Nothing is opened before a track is measured; soundfile is imported only then.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from engine.model.errors import EngineError
from engine.model.events import Clock
from engine.model.limits import Limits
from engine.sources import paths
from engine.sources.contents import AUDIO_FOLDER, pick
from engine.sources.document import Document, Fields, read_document
from engine.sources.files import Artifact, CallFiles
from engine.sources.hashing import hash_file, open_unlinked
from engine.sources.ledger import LineFault

SCHEMA = "riff.call_audio/v1"
MANIFEST = "audio/manifest.json"
_NAMED = ("caller", "agent", "mixed")
_RECORDING = "audio/recording.wav"
_FALLBACK_PERSPECTIVE = "carrier_recorded"
_NO_OFFSET = "no audio/manifest.json states the clock offset"
_Channel = Annotated[int, Meta(ge=0, lt=2**16)]


class Track(msgspec.Struct, frozen=True):
    """One recorded track, as stated and, once measured, as it is.

    Attributes:
        track: ``caller``, ``agent`` or ``mixed``.
        name: Its file inside the call; None where the manifest names none.
        channel: Of that file, from 0.
        perspective: Where it was recorded; None when not stated.
        clock_offset_ms: The call clock at the file's first frame, or None with `offset_reason`; then the
            track can be played from its start, and no event can claim a range of it.
        stated_sha256: Hex digest the manifest states.
        unavailable: Why it is no evidence, or None.
        sample_rate, frames, channels: Of the file, set by `measure`.
    """

    track: str
    name: str | None
    channel: int = 0
    perspective: str | None = None
    clock_offset_ms: float | int | None = None
    offset_reason: str | None = None
    stated_sha256: str | None = None
    unavailable: str | None = None
    sample_rate: int | None = None
    frames: int | None = None
    channels: int | None = None


class Tracks(NamedTuple):
    """The tracks of a call in the order of the manifest, or by name without one.

    `malformed` are paths of wrong values in the manifest, `faults` that it was not UTF-8.
    """

    tracks: tuple[Track, ...]
    malformed: tuple[str, ...] = ()
    faults: tuple[LineFault, ...] = ()


def read_tracks(files: CallFiles, limits: Limits) -> Tracks:
    """The tracks that the manifest states, or that the files' names say without one.

    A manifest that can't be read counts as none. Files that the manifest names are listed among the
    artifacts, ones that no track uses become ``unused``.

    Raises:
        EngineError: ``PATH_OUTSIDE_CALL`` for a path that leaves the call; ``LIMIT_EXCEEDED``.
    """
    artifact = pick(files, MANIFEST)
    document = read_document(artifact, limits)
    if document is not None and document.value.get("schema", SCHEMA) != SCHEMA:
        artifact.status, artifact.reason = "unreadable", f"of another schema than {SCHEMA}"
        document = None
    if document is None:
        found = Tracks(_without_manifest(files))
        why = "without audio/manifest.json its name is that of no track"
    else:
        found = _stated(document, files)
        artifact.malformed += len(found.malformed)
        why = "audio/manifest.json does not name it"
    _sort(files.artifacts)
    used = {track.name for track in found.tracks}
    for name, listed in files.artifacts.items():
        if name in files.audio and name not in used and listed.status == "read" and listed.data is None:
            listed.status, listed.reason = "unused", why
    return found


def _stated(document: Document, files: CallFiles) -> Tracks:
    problems: list[str] = []
    fields = Fields(document.value, "", problems)
    if not isinstance(document.value.get("tracks"), list):
        fields.problem("tracks")
        return Tracks(_without_manifest(files), tuple(problems), tuple(document.faults))
    tracks = tuple(_track(item, files) for _, item in fields.objects("tracks"))
    return Tracks(tracks, tuple(sorted(set(problems))), tuple(document.faults))


def _track(fields: Fields, files: CallFiles) -> Track:
    stated = fields.need("path", str)
    name = None if stated is None else _inside(stated, files)
    problem = "audio/manifest.json names no file" if name is None else _listed(name, files)
    track = fields.need("track", str, "")
    if not track:
        problem = "audio/manifest.json does not say which track it is"
    offset = fields.get("clock_offset_ms", Clock)
    digest = fields.get("sha256", str)
    return Track(
        track=track,
        name=name,
        channel=fields.get("channel", _Channel, 0),
        perspective=fields.get("perspective", str),
        clock_offset_ms=offset,
        offset_reason="audio/manifest.json states no clock offset" if offset is None else None,
        stated_sha256=None if digest is None else digest.lower().removeprefix("sha256:"),
        unavailable=problem,
    )


def _inside(stated: str, files: CallFiles) -> str:
    """The file a manifest's path means: relative to ``audio/``, or to the call where only that is there."""
    name = paths.resolve(stated, AUDIO_FOLDER)
    if name is None:
        raise EngineError(
            "PATH_OUTSIDE_CALL",
            f"audio/manifest.json names a path outside the call: {stated!r}",
            artifact=MANIFEST,
            path=stated,
        )
    from_call = paths.resolve(stated) or name
    return from_call if name not in files.audio and from_call in files.audio else name


def _listed(name: str, files: CallFiles) -> str | None:
    """Why a named file can't be used, or None; lists it where ``audio/*.wav`` did not."""
    artifact = files.artifacts.get(name)
    if artifact is None:
        there = name in files.audio
        artifact = Artifact(name, "read" if there else "missing", reason=None if there else "not in the call")
        files.artifacts[name] = artifact
    if artifact.status != "read":
        return f"{name} is {artifact.status}: {artifact.reason}"
    return None if name in files.audio else f"{name} is no recording"


def _sort(artifacts: dict[str, Artifact]) -> None:
    ordered = sorted(artifacts.items())
    artifacts.clear()
    artifacts.update(ordered)


def _without_manifest(files: CallFiles) -> tuple[Track, ...]:
    found = [name for name in _NAMED if f"audio/{name}.wav" in files.audio]
    if found:
        return tuple(_fallback(name, f"audio/{name}.wav", 0) for name in found)
    if _RECORDING not in files.audio:
        return ()
    both = (_fallback("caller", _RECORDING, 0), _fallback("agent", _RECORDING, 1))
    channels = measure(both[0], files).channels
    return both if channels in (2, None) else ()


def _fallback(track: str, name: str, channel: int) -> Track:
    return Track(track, name, channel, _FALLBACK_PERSPECTIVE, None, _NO_OFFSET)


def verify(track: Track, files: CallFiles) -> bool | None:
    """Whether a track's file is the one the manifest states; None when that can't be told.

    The digest is kept in the file's artifact, so it is taken once.
    """
    if track.stated_sha256 is None or track.name is None or track.name not in files.audio:
        return None
    artifact = files.artifacts[track.name]
    if artifact.sha256 is None:
        try:
            artifact.sha256 = hash_file(files.audio[track.name])
        except OSError:
            return None
    return artifact.sha256 == track.stated_sha256


def measure(track: Track, files: CallFiles) -> Track:
    """The track with rate, frames and channels of its file, or with the reason why it is unavailable.

    A hash that disagrees makes it unavailable (``SOURCE_HASH_MISMATCH``). For PCM the number of frames is
    what the file holds, whatever its header claims.
    """
    if track.unavailable is not None or track.name is None:
        return track
    if verify(track, files) is False:
        return _without(track, f"{track.name} is not the file whose hash audio/manifest.json states")
    try:
        found = _probe(files.audio[track.name])
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else str(problem)
        return _without(track, f"{track.name}: {reason}")
    if isinstance(found, str):
        return _without(track, f"{track.name}: {found}")
    measured: Track = msgspec.structs.replace(track, **found)
    if track.channel >= found["channels"]:
        return _without(measured, f"{track.name} has no channel {track.channel}")
    return measured


def _without(track: Track, reason: str) -> Track:
    return msgspec.structs.replace(track, unavailable=reason)


def _probe(path: str) -> dict[str, Any] | str:
    """Rate, frames and channels of a sound file, or why it can't be decoded."""
    import soundfile

    with os.fdopen(open_unlinked(path), "rb") as file:
        try:
            with soundfile.SoundFile(file) as sound:
                return {
                    "sample_rate": int(sound.samplerate),
                    "frames": int(sound.frames),
                    "channels": int(sound.channels),
                }
        except soundfile.LibsndfileError as problem:
            return str(problem.error_string).strip().rstrip(".")
        except (RuntimeError, ValueError, TypeError):
            return "not a sound file"
