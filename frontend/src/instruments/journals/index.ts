export { Journals } from "./Journals";
