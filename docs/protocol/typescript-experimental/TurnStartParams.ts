// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { AdditionalContextEntry } from "./AdditionalContextEntry";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { CyberAccessProgram } from "./CyberAccessProgram";
import type { JsonValue } from "./JsonValue";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";
import type { TurnToolOutput } from "./TurnToolOutput";
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/start`.
 */
export type TurnStartParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * Texts in addition to the input, by names that the client chose.
 */
additionalContext?: { [key in string]: AdditionalContextEntry } | null,
/**
 * When the user is asked for approval.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId?: string | null,
/**
 * The collaboration mode.
 */
collaborationMode?: CollaborationMode | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * The access program for work on security under which the turn runs.
 */
cyberAccessProgram?: CyberAccessProgram | null,
/**
 * Ids of the plugins that are disabled for the thread.
 */
disabledPluginIds?: Array<string> | null,
/**
 * Reasoning effort of the model.
 */
effort?: string | null,
/**
 * Environments in which commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * When the model may spawn agents.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * JSON schema that the answer must follow.
 */
outputSchema?: JsonValue | null,
/**
 * Id of the turn because of which the client starts this one.
 */
parentTurnId?: string | null,
/**
 * Id of the permission profile. It cannot be combined with a sandbox.
 */
permissions?: string | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Metadata that is sent to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null,
/**
 * Changes of the metadata that is sent to the model provider.
 */
responsesapiClientMetadataPatch?: { [key in string]: string } | null,
/**
 * Id of the first turn in the chain that led to this one.
 */
rootTurnId?: string | null,
/**
 * Directories that form the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * Sandbox policy for commands.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Service tier of this turn only.
 */
serviceTierForTurn?: string | null,
/**
 * How the model summarizes its reasoning.
 */
summary?: ReasoningSummary | null,
/**
 * Output of a tool, instead of a text.
 */
toolOutput?: TurnToolOutput | null,
/**
 * Why the client starts the turn.
 */
turnTrigger?: string | null, };
