// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CyberAccessProgram } from "./CyberAccessProgram";

/**
 * Access programs under which a model can be used.
 */
export type ModelAccessPrograms = {
/**
 * Access programs for work on security.
 */
cyber: Array<CyberAccessProgram>, };
