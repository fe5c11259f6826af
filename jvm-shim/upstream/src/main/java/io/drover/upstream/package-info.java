/** Hadoop's own published tests, run unchanged, with the pages that a cluster would show. */
package io.drover.upstream;
