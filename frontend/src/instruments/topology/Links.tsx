import { t } from "@lingui/core/macro";
import type { Link } from "../../api/schema";
import { along, type Geometry, type LinkShape, svgPath } from "./layout";
import { keyOf, stateOf } from "./rules";
import { useBridges } from "./useBridges";

interface Props {
  geometry: Geometry;
  width: number;
  rem: number;
  links: readonly Link[];
  /** Whether messages are shown on their way. */
  moving: boolean;
  selected: { a: string; b: string } | null;
  onOpen: (a: string, b: string) => void;
}

/** The links and their faults. The keyboard reaches them through a server's menu. */
export function Links({ geometry, width, rem, links, moving, selected, onOpen }: Props) {
  const bridges = useBridges(geometry.bridges, links, moving);
  const harmed = geometry.ways.filter(({ a, b }) => stateOf(links, a, b).kind !== "open");
  return (
    <svg className="links" width={width} height={geometry.height} aria-hidden="true">
      {[...geometry.links, ...geometry.nodeLinks, ...bridges, ...harmed].map((shape) => (
        <LinkPath
          key={keyOf(shape)}
          shape={shape}
          between={bridges.includes(shape)}
          rem={rem}
          links={links}
          selected={selected?.a === shape.a && selected.b === shape.b}
          onOpen={onOpen}
        />
      ))}
    </svg>
  );
}

interface PathProps {
  shape: LinkShape;
  /** Whether the link joins two groups. */
  between: boolean;
  rem: number;
  links: readonly Link[];
  selected: boolean;
  onOpen: (a: string, b: string) => void;
}

function LinkPath({ shape, between, rem, links, selected, onOpen }: PathProps) {
  const { a, b, curve } = shape;
  const { kind, direction, words } = stateOf(links, a, b);
  const path = svgPath(curve);
  const mark = along(curve, direction === "to" ? 0.72 : direction === "from" ? 0.28 : 0.5);
  const arrow = direction === "to" ? `${a} → ${b} ` : direction === "from" ? `${b} → ${a} ` : "";
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard's way is a server's menu
    <g
      className={`link link-${kind} ${between ? "link-between" : ""}`}
      data-testid={`link-${a}-${b}`}
      data-state={kind}
      data-selected={selected || undefined}
      onClick={() => onOpen(a, b)}
    >
      <path className="link-line" d={path} />
      <path className="link-touch" d={path}>
        <title>{t`${a} – ${b}${words && `: ${words}`}. Click to cut, delay or lose`}</title>
      </path>
      {kind !== "open" && (
        <g transform={`translate(${mark.x} ${mark.y})`} className="link-mark">
          {kind === "cut" ? (
            <>
              <circle r="0.62rem" />
              <path className="link-cross" transform={`scale(${rem})`} d="M-.2-.2 .2 .2M.2-.2-.2 .2" />
            </>
          ) : (
            <circle r="0.3rem" />
          )}
          <text y="1.75em" textAnchor="middle">
            {kind === "cut" ? arrow : `${arrow}${words}`}
          </text>
        </g>
      )}
    </g>
  );
}
