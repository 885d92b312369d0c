// Turns flags and environment variables into one typed, frozen object of settings. A flag wins over
// its variable, a variable over the default. All errors are reported at once.

/** A text that a setting can't take; `message` completes "--flag …". */
export class InvalidSetting extends Error {
  override readonly name = "InvalidSetting";
}

export interface Setting<T> {
  /** Long form without dashes, `admin-port`; its variable is `JSONPLANE_ADMIN_PORT`. */
  readonly flag: string;
  /** Short form, `o` for `-o`. */
  readonly short?: string;
  /** What stands for the value in the help, `PORT`; empty for a switch. */
  readonly placeholder: string;
  /** On the command line it has no value; `--flag=false` turns it off against its variable. */
  readonly isSwitch?: true;
  readonly help: string;
  /** Throws InvalidSetting. */
  readonly read: (text: string) => T;
  /** As one would write it; absent = the setting may stay unset. */
  readonly fallback?: string;
}

export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<T extends SettingTable> = {
  readonly [name in keyof T]: T[name] extends { readonly read: (text: string) => infer V }
    ? T[name] extends { readonly fallback: string }
      ? V
      : V | undefined
    : never;
};

export interface SettingSources {
  /** Texts given on the command line, by flag. */
  readonly flags: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export type ReadSettings<T extends SettingTable> =
  | { readonly ok: true; readonly values: SettingValues<T> }
  | { readonly ok: false; readonly faults: readonly string[] };

export function variableOf(flag: string): string {
  return `JSONPLANE_${flag.toUpperCase().replaceAll("-", "_")}`;
}

export function readSettings<T extends SettingTable>(table: T, sources: SettingSources): ReadSettings<T> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const found = textOf(setting, sources);
    if (found === undefined) continue;
    try {
      values[name] = setting.read(found.text);
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      faults.push(`${found.source} ${error.message}`);
    }
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, values: Object.freeze(values) as SettingValues<T> };
}

function textOf(
  setting: Setting<unknown>,
  { flags, environment }: SettingSources,
): { text: string; source: string } | undefined {
  const source = `--${setting.flag}`;
  const flag = flags.get(setting.flag);
  if (flag !== undefined) return { text: flag, source };
  const variable = variableOf(setting.flag);
  const text = environment[variable];
  // An empty variable is how most tools unset one.
  if (text !== undefined && text !== "" && !isServiceLink(text)) return { text, source: variable };
  return setting.fallback === undefined ? undefined : { text: setting.fallback, source };
}

/** Kubernetes sets JSONPLANE_PORT=tcp://… in pods next to a Service called `jsonplane`. */
function isServiceLink(text: string): boolean {
  return /^tcp:\/\/[0-9a-f.:[\]]+$/.test(text);
}
