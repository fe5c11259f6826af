package io.drover.shim;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;

/** The published schema of the protocol, as a judge of documents. */
public final class Schema {
  /** The documentation that both sides are checked against. */
  public static final Path DOCS = Paths.get("..", "docs", "protocol");

  private Schema() {}

  /** What is wrong with a document of one kind; empty when nothing is. */
  public static String faults(String kind, String document) {
    List<Error> errors = Loaded.of(kind).validate(document, InputFormat.JSON);
    return errors.stream().map(Error::toString).collect(Collectors.joining("; "));
  }

  private static final class Loaded {
    private static final com.networknt.schema.Schema REQUEST = load("request");
    private static final com.networknt.schema.Schema REPLY = load("reply");
    private static final com.networknt.schema.Schema REFUSAL = load("refusal");

    static com.networknt.schema.Schema of(String kind) {
      return switch (kind) {
        case "request" -> REQUEST;
        case "reply" -> REPLY;
        case "refusal" -> REFUSAL;
        default -> throw new IllegalArgumentException(kind);
      };
    }

    private static com.networknt.schema.Schema load(String kind) {
      try {
        String all = Files.readString(DOCS.resolve("exchange.schema.json"));
        int choice = all.lastIndexOf("\"oneOf\"");
        String one = all.substring(0, choice) + "\"$ref\": \"#/$defs/" + kind + "\"}";
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(one, InputFormat.JSON);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
