// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputContentItem } from "./FunctionCallOutputContentItem";

/**
 * Output of a function: a text or several parts.
 */
export type FunctionCallOutputBody = string | Array<FunctionCallOutputContentItem>;
