"""`/api/labs`: the lessons, and runs of them on clusters of their own in virtual time."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from backend.labs import service
from backend.labs.models import LabOut, LabRow, LabRunRequest, LabVerdict
from backend.person import Person, person_of

router = APIRouter(prefix="/api", tags=["labs"])

Student = Annotated[str, Query(min_length=1, max_length=60)]
ThePerson = Annotated[Person | None, Depends(person_of)]


@router.get("/labs", response_model=list[LabRow])
async def read_labs(person: ThePerson, student: Student = "student") -> list[dict[str, Any]]:
    """All labs in their order, with the progress of this student."""
    return service.listed(student) if person is None else service.listed(person.name, person.passed)


@router.get("/labs/{name}", response_model=LabOut)
async def read_lab(name: str, person: ThePerson, student: Student = "student") -> dict[str, Any]:
    """A lab with the numbers of this student."""
    if person is None:
        return service.of_student(name, student)
    return service.of_student(name, person.name, person.passed)


@router.post("/labs/{name}/runs", response_model=LabVerdict)
async def run_lab(name: str, request: LabRunRequest) -> dict[str, Any]:
    """Runs the lab from the beginning with the student's actions, and grades it. 409 when too many runs are under way."""
    return await service.run(name, request.student, request.answers, request.actions)
