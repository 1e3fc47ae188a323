/** The name of the student: in a class the one under which they joined, else one that this browser remembers. */

import { useLab } from "../../store/store";

const KEY = "cloverlab-student";

export function rememberedStudent(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export function rememberStudent(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // A browser that keeps nothing asks for the name again.
  }
}

export function useStudent(): string {
  return useLab((state) => state.student) || rememberedStudent();
}
