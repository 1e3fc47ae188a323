/** Everything that can be done from the palette: pages, the tour, time, and every fault at every target that it accepts now. */

import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { forkLooked } from "../actions/looking";
import { perform } from "../actions/perform";
import { openUntil } from "../pages/until/opened";
import { toggleFrozen } from "../store/moment";
import { isOpen, PAGES } from "../store/pages";
import { canAct, canChange, type LabState, useLab } from "../store/store";
import { goTo } from "../store/url";
import { openTour } from "../tour/store";

export interface Command {
  title: string;
  /** Its key, where it has one. */
  key: string;
  run: () => void;
}

function faults({ verbs, live, processes }: LabState): Command[] {
  const known = new Map(processes.map(({ name, process }) => [name, process]));
  const servers = Object.values(live.servers).map((server) => ({
    name: server.name,
    kind: "server",
    process: known.get(server.name) ?? server.process,
  }));
  const nodes = Object.values(live.nodes).map(({ name, kind, process }) => ({ name, kind, process }));
  return verbs.flatMap((verb) => {
    const { label, label_one, key, targets, states, asks } = verb;
    if (targets.includes("cluster")) return [{ title: label, key, run: () => void perform(verb.verb, []) }];
    return [...servers, ...nodes]
      .filter(
        ({ kind, process }) => targets.includes(kind) && (states.length === 0 || states.includes(process)),
      )
      .map(({ name, kind }) => ({
        title: `${targets.includes("link") ? label_one : label}: ${name}`,
        key,
        run: (): void => {
          if (!asks) return void perform(verb.verb, [name]);
          goTo("cluster");
          if (kind === "server") useLab.setState({ menu: { kind: "server", name, asks: verb.verb } });
        },
      }));
  });
}

/** The commands that are possible now. */
export function commandsOf(state: LabState, lacks: readonly string[]): Command[] {
  const pages = PAGES.filter(([page]) => page !== state.page && isOpen(page, state.student, lacks)).map(
    ([page, name]) => ({
      title: t`Go to ${i18n._(name)}`,
      key: "",
      run: () => goTo(page),
    }),
  );
  const tour = (): void => {
    goTo("cluster");
    openTour();
  };
  return [
    ...pages,
    ...(state.looksAt === null
      ? [{ title: t`Take the tour`, key: "", run: tour }]
      : [{ title: t`Fork this cluster`, key: "", run: forkLooked }]),
    { title: t`Freeze or unfreeze the picture`, key: "Space", run: toggleFrozen },
    ...(canChange(state)
      ? [{ title: state.virtual === null ? t`Wait until…` : t`Run until…`, key: "", run: () => openUntil() }]
      : []),
    ...(canAct(state) ? faults(state) : []),
  ];
}

/** The commands that have every word, those that begin with the text first. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  const begins = ({ title }: Command): number => (title.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1);
  return found.toSorted((a, b) => begins(a) - begins(b));
}
