// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CyberAccessProgram } from "./CyberAccessProgram";

/**
 * The programs that a model can be used under.
 */
export type ModelAccessPrograms = {
/**
 * The programs for work on security.
 */
cyber: Array<CyberAccessProgram>, };
