import { needs } from '../../../src/domain/settings/rules.ts'
import { getSetting, settingGroups, type SettingName, settingNames } from '../../../src/domain/settings/settings.ts'

/** Formats what a setting needs, for each of its values: "`oidc` needs `OIDC_ISSUER` and `OIDC_AUDIENCE`." */
function formatNeeds(name: SettingName): string[] {
  const needsByValue = Map.groupBy(
    needs.filter(({ setting }) => setting === name),
    ({ value }) => value,
  )
  return [...needsByValue].map(([value, group]) => {
    const names = group.map(({ needed }) => `\`${needed}\``).join(' and ')
    return value === undefined ? `It needs ${names}.` : `\`${value}\` needs ${names}.`
  })
}

function formatSetting(name: SettingName): string {
  const { isSecret, default: text, description } = getSetting(name)
  const notes = [isSecret ? 'secret' : '', text === undefined ? '' : `default \`${text}\``].filter(
    (note) => note !== '',
  )
  const label = notes.length > 0 ? ` (${notes.join(', ')})` : ''
  return `- ${[`\`${name}\`${label}: ${description}`, ...formatNeeds(name)].join(' ')}`
}

/** All settings by group, for docs/settings.md. */
export const settingLists = Object.entries(settingGroups)
  .flatMap(([group, title]) => [
    `### ${title}`,
    settingNames
      .filter((name) => getSetting(name).group === group)
      .map(formatSetting)
      .join('\n'),
  ])
  .join('\n\n')

const lineWidth = 118

function buildComment(text: string): string {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + 1 + word.length > lineWidth) lines.push(`# ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}

/** The file .dev.vars.example, with the settings that have a value for development. */
export const developmentFile = [
  `${buildComment('The variables of `npx wrangler dev`: cp .dev.vars.example .dev.vars. `npm start` does not read this file.')}
# \`npm run readme\` writes it. All other settings: docs/settings.md`,
  ...settingNames.flatMap((name) => {
    const { development, description } = getSetting(name)
    return development === undefined
      ? []
      : [`${buildComment(description.replaceAll('`', ''))}\n${name}=${JSON.stringify(development)}`]
  }),
]
  .join('\n\n')
  .concat('\n')
