export { Costs } from "./Costs";
