// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputContentItem } from "./FunctionCallOutputContentItem";

/**
 * What a function answered: a text, or several parts.
 */
export type FunctionCallOutputBody = string | Array<FunctionCallOutputContentItem>;
