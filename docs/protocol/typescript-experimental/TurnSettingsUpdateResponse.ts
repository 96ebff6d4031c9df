// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TurnSettingsUpdateStatus } from "./TurnSettingsUpdateStatus";

/**
 * Result of `turn/settings/update`.
 */
export type TurnSettingsUpdateResponse = {
/**
 * The status.
 */
status: TurnSettingsUpdateStatus, };
