export { Topology } from "./Topology";
