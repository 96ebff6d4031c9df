// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RemoteControlConnectionStatus } from "./RemoteControlConnectionStatus";

/**
 * Params of the notification `remoteControl/status/changed`.
 */
export type RemoteControlStatusChangedNotification = {
/**
 * The id of this installation.
 */
installationId: string,
/**
 * The name of this machine.
 */
serverName: string,
/**
 * How far it is, or what became of it.
 */
status: RemoteControlConnectionStatus,
/**
 * The environment that is controlled.
 */
environmentId?: string | null, };
