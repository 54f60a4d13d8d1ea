// What a program gets of this process's environment.

/** The variables whose names match. */
export function inherited(names: RegExp): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value]] : [],
    ),
  );
}

/** The same for a program of Node that reaches the network: Node uses a proxy only with a setting of its own. */
export function inheritedWithProxy(names: RegExp): Record<string, string> {
  const set = inherited(names);
  const isProxied = Object.keys(set).some((name) => /^https?_proxy$/i.test(name));
  return { ...(isProxied && { NODE_USE_ENV_PROXY: "1" }), ...set };
}
