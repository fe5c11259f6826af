/** What Hadoop loads: links only to the JDK and to Hadoop, so that nothing of ours can break it. */
package io.drover.shim;
