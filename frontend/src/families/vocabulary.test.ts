import { i18n } from "@lingui/core";
import { afterEach, describe, expect, it } from "vitest";
import { FAMILIES, type Vocabulary } from "../api/schema";
import { SENTENCES } from "./sentences";
import { vocabularyOf } from "./vocabulary";

afterEach(() => i18n.loadAndActivate({ locale: "en", messages: {} }));

function saidBy({ says, states, messages, settled, election, elected, begins }: Vocabulary): string[] {
  const rest = [settled, election, elected, begins];
  return [...Object.values(says), ...Object.values(states).flat(), ...Object.values(messages), ...rest];
}

describe("the vocabularies of the families", () => {
  it("say nothing that is not in the message catalogue", () => {
    const said = new Set(Object.values(FAMILIES).flatMap(saidBy));
    said.delete("");
    expect(SENTENCES.map(({ id }) => id).toSorted()).toEqual([...said].toSorted());
  });

  it("keep protocol words, and explain them in the language of the page", () => {
    expect(vocabularyOf("mams")).toEqual(FAMILIES.mams);
    i18n.loadAndActivate({ locale: "zh-CN", messages: { applied: "已应用" } });
    expect(vocabularyOf("mams").states.a[0]).toBe("已应用");
    expect(vocabularyOf("mams").leads).toBe("active");
    expect(vocabularyOf("mams")).toBe(vocabularyOf("mams"));
  });
});
