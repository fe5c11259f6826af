/**
 * Drover's part of the shim: facts are copied from events and polled from the job, kept as rows,
 * and sent to the service by one daemon thread. The wire contract is {@code docs/protocol}.
 */
package io.drover.shim.core;
