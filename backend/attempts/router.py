"""`/api/attempts`: attempts of students at labs, each on a simulated cluster of its own below `/api/clusters/NAME/`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection

from backend.attempts.models import AttemptOut, AttemptRequest, HintRequest, Predictions
from backend.attempts.service import Attempts
from backend.person import Person, person_of

router = APIRouter(prefix="/api/attempts", tags=["attempts"])


def the_attempts(connection: HTTPConnection) -> Attempts:
    attempts: Attempts = connection.app.state.attempts
    return attempts


TheAttempts = Annotated[Attempts, Depends(the_attempts)]
ThePerson = Annotated[Person | None, Depends(person_of)]


@router.get("", response_model=list[AttemptOut])
async def read_attempts(attempts: TheAttempts, person: ThePerson) -> list[dict[str, Any]]:
    """For a student of a class, their own one; else those outside of classes."""
    if person is None:
        await attempts.resume_left()
    return attempts.listed(person.id if person is not None else "")


@router.post("", response_model=AttemptOut)
async def start_attempt(request: AttemptRequest, attempts: TheAttempts, person: ThePerson) -> dict[str, Any]:
    """Creates the lab's cluster, without load. An earlier attempt of the student at this lab ends; in a class, any other cluster of theirs."""
    if person is not None:
        return await attempts.start(request.lab, person.name, person.id)
    return await attempts.start(request.lab, request.student)


@router.get("/{name}", response_model=AttemptOut)
async def read_attempt(name: str, attempts: TheAttempts) -> dict[str, Any]:
    """The steps as they are now. After a new start of the control plane the run is repeated, and the attempt has another name."""
    return await attempts.look(name)


@router.post("/{name}/answers", response_model=AttemptOut)
async def predict(name: str, request: Predictions, attempts: TheAttempts) -> dict[str, Any]:
    """Takes the predictions, which nothing changes any more, and begins the run: the load starts, and faults are possible."""
    return await attempts.answer(name, request.answers)


@router.post("/{name}/hints", response_model=AttemptOut)
async def give_hint(name: str, request: HintRequest, attempts: TheAttempts) -> dict[str, Any]:
    """Shows the next hint of a step."""
    return attempts.hint(name, request.step)


@router.post("/{name}/verdict", response_model=AttemptOut)
async def finish_attempt(name: str, attempts: TheAttempts) -> dict[str, Any]:
    """Ends the run and grades every step, as `./cloverlab lab check NAME` does. The cluster's clock stops."""
    return await attempts.finish(name)


@router.delete("/{name}", response_model=list[AttemptOut])
async def end_attempt(name: str, attempts: TheAttempts, person: ThePerson) -> list[dict[str, Any]]:
    """Ends an attempt and deletes its cluster; returns those that are left."""
    await attempts.end(name)
    return attempts.listed(person.id if person is not None else "")
