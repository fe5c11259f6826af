package io.drover.shim.core;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Set;

/**
 * A method or field of Hadoop's that its interfaces do not show: looked for once, and given up for
 * good, with one line in the log, where a version has it not.
 */
final class Hidden<T> {
  private final Class<T> type;
  private final String name;
  private final boolean isMethod;
  private final String without;
  private AccessibleObject found;
  private boolean missing;

  private Hidden(Class<T> type, String name, boolean isMethod, String without) {
    this.type = type;
    this.name = name;
    this.isMethod = isMethod;
    this.without = without;
  }

  /** A method without parameters; {@code without} says what a Hadoop that has it not is like. */
  static <T> Hidden<T> method(Class<T> type, String name, String without) {
    return new Hidden<>(type, name, true, without);
  }

  /** A field. */
  static <T> Hidden<T> field(Class<T> type, String name, String without) {
    return new Hidden<>(type, name, false, without);
  }

  /** A field that holds a set; reflection does not say of what. */
  @SuppressWarnings("unchecked")
  static Hidden<Set<Object>> set(String name, String without) {
    return field((Class<Set<Object>>) (Class<?>) Set.class, name, without);
  }

  /** Whether objects of a class have it. */
  boolean isIn(Class<?> owner) {
    if (found == null && !missing) {
      try {
        found =
            isMethod ? inherited(owner, name, c -> c.getDeclaredMethod(name)) : field(owner, name);
      } catch (Throwable e) {
        giveUp(e);
      }
    }
    return !missing;
  }

  /** What the method answers or the field holds, or null; null, too, where it is not there. */
  T of(Object owner) {
    if (!isIn(owner.getClass())) {
      return null;
    }
    try {
      Object value = isMethod ? ((Method) found).invoke(owner) : ((Field) found).get(owner);
      return type.cast(value);
    } catch (Throwable e) {
      giveUp(e);
      return null;
    }
  }

  /** It is not what it was taken for. */
  void giveUp(Throwable why) {
    missing = true;
    Log.info("this Hadoop {}: {}", without, why.toString());
  }

  /** A field of a class or of one above it, to be read and written. */
  static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
    return inherited(owner, name, c -> c.getDeclaredField(name));
  }

  private interface Lookup<T> {
    T in(Class<?> type) throws ReflectiveOperationException;
  }

  private static <T extends AccessibleObject> T inherited(
      Class<?> type, String name, Lookup<T> lookup) throws ReflectiveOperationException {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      try {
        T found = lookup.in(c);
        found.setAccessible(true);
        return found;
      } catch (NoSuchMethodException | NoSuchFieldException e) {
        // perhaps a superclass has it
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + name);
  }
}
