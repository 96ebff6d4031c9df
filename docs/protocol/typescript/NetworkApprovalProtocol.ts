// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The protocol of a connection.
 */
export type NetworkApprovalProtocol = "http" | "https" | "socks5Tcp" | "socks5Udp";
