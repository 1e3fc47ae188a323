/** The name of the student, which this browser remembers. */

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
