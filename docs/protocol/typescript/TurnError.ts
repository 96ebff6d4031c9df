// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CodexErrorInfo } from "./CodexErrorInfo";
import type { MisalignmentErrorDetails } from "./MisalignmentErrorDetails";

/**
 * Why a turn failed, or must retry.
 */
export type TurnError = {
/**
 * Error message of the component that reported it.
 */
message: string,
/**
 * More details for people.
 */
additionalDetails?: string | null,
/**
 * Kind of the error.
 */
codexErrorInfo?: CodexErrorInfo | null,
/**
 * Details about a model that did something other than what it was asked.
 */
misalignment?: MisalignmentErrorDetails | null, };
