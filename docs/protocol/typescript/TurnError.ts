// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CodexErrorInfo } from "./CodexErrorInfo";
import type { MisalignmentErrorDetails } from "./MisalignmentErrorDetails";

/**
 * Why a turn failed, or has to try again.
 */
export type TurnError = {
/**
 * What went wrong, in the words of whoever noticed.
 */
message: string,
/**
 * More about the error, for people.
 */
additionalDetails?: string | null,
/**
 * What kind of error it is.
 */
codexErrorInfo?: CodexErrorInfo | null,
/**
 * What was found when the model did something other than it was asked.
 */
misalignment?: MisalignmentErrorDetails | null, };
