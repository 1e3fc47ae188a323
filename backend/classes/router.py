"""`/api/class`: the class of this control plane. The entrance is open to strangers, `me` to students, all else to the instructor."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Query, Request
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from backend.classes import join_page, wall
from backend.classes.models import (
    ClassOut,
    ClassRequest,
    ClusterName,
    JoinedOut,
    JoiningRequest,
    JoinRequest,
    StudentKey,
    StudentOut,
    VerdictRequest,
    WallOut,
)
from backend.classes.record import ClassRecord, ClassStudent
from backend.classes.results import results_csv
from backend.classes.service import Classes
from backend.errors import LabError, Malformed, NotThere
from backend.grading.verdict import GradeVerdict
from backend.person import Person, person_of
from backend.reach import join_address
from backend.settings import Settings

FORM_BYTES = 4_096
FORM_FIELDS = 8
NOBODY = ClassStudent("", "", "", 0.0)
router = APIRouter(tags=["class"])


def the_classes(connection: HTTPConnection) -> Classes:
    classes: Classes = connection.app.state.classes
    return classes


def the_settings(connection: HTTPConnection) -> Settings:
    settings: Settings = connection.app.state.fleet.main.settings
    return settings


def the_student(connection: HTTPConnection) -> Person:
    """Raises NotThere for the instructor."""
    person = person_of(connection)
    if person is None:
        raise NotThere("you are the instructor: this is for students, each with a key of their own")
    return person


TheClasses = Annotated[Classes, Depends(the_classes)]
TheSettings = Annotated[Settings, Depends(the_settings)]
ThePerson = Annotated[Person | None, Depends(person_of)]
TheStudent = Annotated[Person, Depends(the_student)]


# --- the entrance -----------------------------------------------------------------------------------


@router.get("/join", include_in_schema=False)
async def show_entrance(request: Request, classes: TheClasses) -> Response:
    person = person_of(request)
    if person is not None:
        return unkept(join_page.already(person.name))
    if not classes.roster.takes_students:
        return unkept(join_page.page("No class takes students", "<p>Ask your instructor.</p>"), 404)
    return unkept(join_page.form(classes.roster.record.name))


@router.post("/join", include_in_schema=False)
async def enter(request: Request, classes: TheClasses, settings: TheSettings) -> Response:
    """The same as `POST /api/class/join`, for a form."""
    fields = dict(form_fields(await request.body()))
    code, name = fields.get("code", ""), fields.get("name", "")
    try:
        key, student = classes.roster.join(code, name, settings.reach.caller_of(request.scope))
    except LabError as error:
        called = classes.roster.record.name if classes.roster.takes_students else "a class"
        return unkept(join_page.form(called, error.message, code, name), error.status)
    return unkept(join_page.welcome(student.name, key))


def form_fields(body: bytes) -> list[tuple[str, str]]:
    """Raises Malformed."""
    try:
        return parse_qsl(
            body[: FORM_BYTES + 1].decode(), strict_parsing=len(body) > 0, max_num_fields=FORM_FIELDS
        )
    except ValueError:
        raise Malformed("the form cannot be read") from None


def unkept(text: str, status: int = 200) -> Response:
    """A page that no cache keeps: it may hold a key."""
    return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})


@router.post("/api/class/join", response_model=JoinedOut)
async def join_class(
    request: JoinRequest, http: Request, classes: TheClasses, settings: TheSettings
) -> dict[str, Any]:
    """Admits a student, without any key, while the class takes students. 403 for a wrong code, 429 after too many, 409 for a taken name."""
    key, student = classes.roster.join(request.code, request.name, settings.reach.caller_of(http.scope))
    return {"key": key, "name": student.name}


# --- for students -----------------------------------------------------------------------------------


@router.get("/api/class/me", response_model=StudentOut)
async def read_me(
    person: ThePerson,
    classes: TheClasses,
    cluster: Annotated[str, Query(max_length=40, description="The cluster that a page shows.")] = "",
) -> dict[str, Any]:
    """What a student has done, and their cluster now. The name is empty for the instructor, who learns whose cluster a page shows."""
    if person is not None:
        return student_out(classes, classes.roster.record.student(person.id))
    shown = classes.student_with(cluster)
    looks_at = {"id": shown.id, "name": shown.name} if shown is not None else None
    return {**student_out(classes, NOBODY), "looks_at": looks_at}


@router.post("/api/class/me/cluster", response_model=ClusterName)
async def open_my_cluster(person: TheStudent, classes: TheClasses) -> dict[str, Any]:
    """The student's free cluster; one begins, in the place of a lab's, where there is none."""
    return {"name": await classes.open_cluster(person)}


@router.post("/api/class/me/verdicts", response_model=StudentOut)
async def hand_in_verdict(request: VerdictRequest, person: TheStudent, classes: TheClasses) -> dict[str, Any]:
    """Hands in a verdict of the command `grade`, signed with the code of the class."""
    return student_out(classes, classes.hand_in(person.id, GradeVerdict(**request.model_dump())))


def student_out(classes: Classes, student: ClassStudent) -> dict[str, Any]:
    found = classes.clusters.of(student.id) if student.id else None
    return {
        "class_name": classes.roster.record.name,
        "name": student.name,
        "passed": sorted(student.passed),
        "verdicts": wall.verdicts(student),
        "cluster": found[0] if found is not None else "",
        "free": found is not None and not classes.attempts.of(student.id),
        "looks_at": None,
    }


# --- for the instructor -----------------------------------------------------------------------------


@router.get("/api/class", response_model=ClassOut)
async def read_class(classes: TheClasses, settings: TheSettings) -> dict[str, Any]:
    """The open class, or the last one."""
    return class_out(classes.roster.record, settings)


@router.post("/api/class", response_model=ClassOut)
async def start_class(request: ClassRequest, classes: TheClasses, settings: TheSettings) -> dict[str, Any]:
    """Opens a class under a new code. 409 while one is open."""
    return class_out(classes.roster.start(request.name), settings)


@router.post("/api/class/end", response_model=ClassOut)
async def end_class(classes: TheClasses, settings: TheSettings) -> dict[str, Any]:
    """Ends the keys and clusters of all students; the results stay."""
    return class_out(await classes.end(), settings)


@router.post("/api/class/joining", response_model=ClassOut)
async def change_joining(
    request: JoiningRequest, classes: TheClasses, settings: TheSettings
) -> dict[str, Any]:
    """Whether the code admits further students."""
    return class_out(classes.roster.set_joining(request.joining), settings)


@router.get("/api/class/wall", response_model=WallOut)
async def read_wall(classes: TheClasses, settings: TheSettings) -> dict[str, Any]:
    """Every student with the cluster as it is now, the lab, and who is stuck. Looking disturbs nobody."""
    return {**class_out(classes.roster.record, settings), "tiles": wall.tiles(classes)}


@router.get("/api/class/results.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def read_results(classes: TheClasses) -> Response:
    """A line for each attempt, and for each verdict that was handed in."""
    headers = {
        "Content-Disposition": f'attachment; filename="class-{classes.roster.record.number}.csv"',
        "Cache-Control": "no-store",
    }
    return Response(results_csv(classes.roster.record), media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/api/class/students/{student}/key", response_model=StudentKey)
async def renew_key(student: str, classes: TheClasses) -> dict[str, Any]:
    """A new key for a student who has lost the link."""
    return {"key": classes.renew_key(student)}


@router.post("/api/class/students/{student}/fork", response_model=ClusterName)
async def fork_student(student: str, classes: TheClasses) -> dict[str, Any]:
    """Repeats the student's run in a cluster of its own, which pauses at the present instant. The student's run goes on untouched."""
    return {"name": await classes.fork(student)}


@router.delete("/api/class/students/{student}", response_model=ClassOut)
async def remove_student(student: str, classes: TheClasses, settings: TheSettings) -> dict[str, Any]:
    """Removes a student with all results."""
    return class_out(await classes.remove(student), settings)


def class_out(record: ClassRecord, settings: Settings) -> dict[str, Any]:
    reach, port = settings.reach, settings.published_port or settings.port
    return {
        "number": record.number,
        "name": record.name,
        "code": record.code,
        "open": record.is_open,
        "joining": record.joining,
        "students": len(record.students),
        "began_s": record.began_s,
        "ended_s": record.ended_s,
        "network": reach.network or reach.public is not None,
        "address": join_address(settings.listen, port, reach),
    }
