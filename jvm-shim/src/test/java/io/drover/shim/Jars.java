package io.drover.shim;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.ToolProvider;

/** Damages jars. */
final class Jars {
  private Jars() {}

  static List<String> names(File jar) throws IOException {
    try (JarFile file = new JarFile(jar)) {
      return file.stream().map(ZipEntry::getName).toList();
    }
  }

  /** A copy with only the entries that are wanted. */
  static File copy(File from, File to, Predicate<String> wanted) throws IOException {
    try (OutputStream out = Files.newOutputStream(to.toPath());
        ZipOutputStream zip = new ZipOutputStream(out)) {
      add(from, zip, wanted);
    }
    return to;
  }

  /** Both jars' entries; the second's where both have one. */
  static File merge(File first, File second, File to) throws IOException {
    Set<String> replaced = new HashSet<>(names(second));
    try (OutputStream out = Files.newOutputStream(to.toPath());
        ZipOutputStream zip = new ZipOutputStream(out)) {
      add(first, zip, name -> !replaced.contains(name));
      add(second, zip, name -> true);
    }
    return to;
  }

  private static void add(File from, ZipOutputStream zip, Predicate<String> wanted)
      throws IOException {
    try (JarFile jar = new JarFile(from)) {
      for (ZipEntry entry : jar.stream().filter(e -> wanted.test(e.getName())).toList()) {
        zip.putNextEntry(new ZipEntry(entry.getName()));
        jar.getInputStream(entry).transferTo(zip);
      }
    }
  }

  /** A jar with one class, compiled from its body. */
  static File compile(File folder, String name, String body, File classPath) throws IOException {
    int dot = name.lastIndexOf('.');
    Path source = folder.toPath().resolve("src").resolve(name.substring(dot + 1) + ".java");
    Files.createDirectories(source.getParent());
    Files.writeString(source, "package " + name.substring(0, dot) + "; " + body);
    Path classes = Files.createDirectories(folder.toPath().resolve("classes"));
    String path = classPath + File.pathSeparator + System.getProperty("java.class.path");
    List<String> arguments =
        new ArrayList<>(
            List.of("-nowarn", "-cp", path, "-d", classes.toString(), source.toString()));
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    if (failed != 0) {
      throw new IOException("cannot compile " + name);
    }
    File jar = folder.toPath().resolve("made.jar").toFile();
    try (OutputStream out = Files.newOutputStream(jar.toPath());
        ZipOutputStream zip = new ZipOutputStream(out);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, zip);
      }
    }
    return jar;
  }
}
