/**
 * Refuses options that npm took for its own because no `--` stands before them. It passes them on in variables of the
 * environment alone, so that the command would run without them.
 */
export function refuseNpmOptions(
  command: string,
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const lostNames = names.filter((name) => env[`npm_config_${name.replaceAll('-', '_')}`])
  if (lostNames.length > 0)
    throw new Error(
      `npm keeps ${lostNames.map((name) => `--${name}`).join(', ')} for itself. Nothing was changed. Write -- before the options: npm run ${command} -- --${lostNames[0]} …`,
    )
}
