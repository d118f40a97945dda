import { getSetting, settingNames } from '../../../src/domain/settings/settings.ts'
import { firstEnvironment, type Installation } from './configuration.ts'

export type Variables = Record<string, string>

/** Variables that only one installation can have, so that others do not take them from wrangler.toml. */
const ownNames = ['PUBLIC_URL', 'FILES_URL', 'CELL']

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''

/** Reads the variables that wrangler.toml sets for an installation. */
export function readFileVariables({ file, environment }: Installation): Variables {
  const texts = Object.entries(file.vars).map(([name, value]) => [name, String(value)] as const)
  if (environment === firstEnvironment) return Object.fromEntries(texts)
  const sharedTexts = texts.map(([name, text]) => [name, ownNames.includes(name) ? '' : text] as const)
  const ownTexts = Object.entries(file.env?.[environment]?.vars ?? {}).map(
    ([name, value]) => [name, String(value)] as const,
  )
  return Object.fromEntries([...sharedTexts, ...ownTexts])
}

/** Reads `NAME=value` of the options. A name without a value empties the variable. */
export function parseAssignments(texts: readonly string[]): Variables {
  const names: readonly string[] = settingNames
  return Object.fromEntries(
    texts.map((text) => {
      const end = text.indexOf('=')
      const name = text.slice(0, end)
      if (end < 1) throw new Error(`--set ${text} has no "=". Write --set NAME=value.`)
      if (!names.includes(name))
        throw new Error(`--set ${name}: no variable has this name. docs/settings.md lists them.`)
      if (getSetting(name as never).isSecret)
        throw new Error(
          `--set ${name}: this is a secret, which everybody on this machine could read in the command. Add it to the file of secrets.`,
        )
      return [name, text.slice(end + 1)]
    }),
  )
}

/**
 * Joins the variables of an installation. What wrangler.toml sets counts. What is empty there is taken from the options,
 * and otherwise stays as it is deployed.
 */
export function joinVariables(fileVariables: Variables, deployed: Variables, assignments: Variables): Variables {
  const contradictions = Object.keys(assignments).filter(
    (name) => isSet(fileVariables[name]) && fileVariables[name] !== assignments[name],
  )
  if (contradictions.length > 0)
    throw new Error(
      contradictions.map((name) => `${name} is set in wrangler.toml, which counts. Change it there.`).join('\n'),
    )
  const deployedNames = Object.keys(deployed).filter((name) => (settingNames as string[]).includes(name))
  const names = [...new Set([...Object.keys(fileVariables), ...deployedNames, ...Object.keys(assignments)])]
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = isSet(fileVariables[name]) ? fileVariables[name] : (assignments[name] ?? deployed[name])
      return text === undefined && fileVariables[name] === undefined ? [] : [[name, text ?? '']]
    }),
  )
}
