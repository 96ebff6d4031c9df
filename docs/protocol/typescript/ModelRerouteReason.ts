// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why a different model answers.
 */
export type ModelRerouteReason = "highRiskCyberActivity";
