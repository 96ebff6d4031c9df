// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NonSteerableTurnKind } from "./NonSteerableTurnKind";

/**
 * What kind of error ended a turn or refused a request, for programs.
 */
export type CodexErrorInfo = "contextWindowExceeded" | "sessionBudgetExceeded" | "usageLimitExceeded" | "rateLimitExceeded" | "flexUnavailable" | "serverOverloaded" | "modelNotFound" | "policyCapacityUnavailable" | "cyberPolicy" | "misalignmentPolicyViolation" | "tooManyDenials" | "internalServerError" | "unauthorized" | "badRequest" | "threadRollbackFailed" | "sandboxError" | "other" | "inferenceHookDenied" | { "httpConnectionFailed": {
/**
 * The status of the answer, where there was one.
 */
httpStatusCode?: number | null, } } | { "responseStreamConnectionFailed": {
/**
 * The status of the answer, where there was one.
 */
httpStatusCode?: number | null, } } | { "responseStreamDisconnected": {
/**
 * The status of the answer, where there was one.
 */
httpStatusCode?: number | null, } } | { "responseTooManyFailedAttempts": {
/**
 * The status of the answer, where there was one.
 */
httpStatusCode?: number | null, } } | { "activeTurnNotSteerable": {
/**
 * The kind of turn that is running.
 */
turnKind: NonSteerableTurnKind, } };
