package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;

import io.drover.shim.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

public class ProtocolExamplesTest {
  private static List<Path> examples(String kind) throws IOException {
    try (Stream<Path> files = Files.list(Schema.DOCS.resolve("examples"))) {
      return files
          .filter(file -> file.getFileName().toString().endsWith("." + kind + ".json"))
          .collect(Collectors.toList());
    }
  }

  @Test
  public void publishedExamplesKeepToTheSchema() throws IOException {
    for (Path file : examples("request")) {
      assertEquals(file.toString(), "", Schema.faults("request", Files.readString(file)));
    }
    for (Path file : examples("reply")) {
      String kind = file.getFileName().toString().startsWith("refused") ? "refusal" : "reply";
      assertEquals(file.toString(), "", Schema.faults(kind, Files.readString(file)));
    }
    assertNotEquals(0, examples("request").size());
    assertNotEquals(0, examples("reply").size());
  }

  @Test
  public void theSchemaRefusesWhatItDoesNotKnow() throws IOException {
    String hello = Files.readString(Schema.DOCS.resolve("examples/hello.request.json"));
    assertNotEquals("", Schema.faults("request", hello.replace("\"seq\":1", "\"seq\":0")));
    assertNotEquals("", Schema.faults("request", hello.replace("\"maps\"", "\"mops\"")));
  }

  @Test
  public void thePublishedAnswersAreUnderstood() throws IOException {
    AnswerParser parser = new AnswerParser();
    for (Path file : examples("reply")) {
      byte[] body = Files.readAllBytes(file);
      if (file.getFileName().toString().startsWith("refused")) {
        assertEquals("wrong_proof", parser.refusal(body).error);
      } else {
        parser.reply(body).actions.forEach(action -> assertNull(action.id, action.fault));
      }
    }
  }
}
