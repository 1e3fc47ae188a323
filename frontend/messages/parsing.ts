/** Options with which Babel reads a file of the page, and nothing else that lies around. */
export function parsing(filename: string) {
  const plugins: ("typescript" | "jsx")[] = filename.endsWith("x") ? ["typescript", "jsx"] : ["typescript"];
  return { filename, babelrc: false, configFile: false, parserOpts: { plugins } };
}
