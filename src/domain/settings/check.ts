import { countEdits, differByOneTypo } from '../text/nearest.ts'
import { conflicts, describeUnmetNeed, type Installation, needs } from './rules.ts'
import { describeForm, getSetting, readText, type SettingName, settingNames, type SettingTexts } from './settings.ts'

/** A wrong setting. */
export interface SettingFault {
  setting: string
  /** Says what is wrong and what to do. It never contains the value of a secret. */
  message: string
  /** True if the Worker does not start with it. */
  isFatal: boolean
}

/** Settings that are set, but whose text nobody can read here, such as secrets that were uploaded before. */
type Unreadable = ReadonlySet<SettingName>

function findFormFaults(texts: SettingTexts, unreadable: Unreadable): SettingFault[] {
  return settingNames.flatMap((name) => {
    const text = readText(texts, name)
    const { form, fallsBack = false } = getSetting(name)
    if (text === '' || unreadable.has(name) || form.read(text) !== null) return []
    return [{ setting: name, message: describeForm(name, text), isFatal: !fallsBack }]
  })
}

/** Nobody can read texts that stop the Worker, and they have a fault of their own. */
const leaveOut = (texts: SettingTexts, faults: readonly SettingFault[]): SettingTexts =>
  Object.fromEntries(Object.entries(texts).filter(([name]) => !faults.some(({ setting }) => setting === name)))

/** Finds all settings that have another form, lack another setting, or contradict each other or the installation. */
export function findFaults(
  texts: SettingTexts,
  installation: Installation = {},
  unreadable: Unreadable = new Set(),
): SettingFault[] {
  const formFaults = findFormFaults(texts, unreadable)
  const readableTexts = leaveOut(
    texts,
    formFaults.filter(({ isFatal }) => isFatal),
  )
  const isUnreadable = (name: string) => formFaults.some(({ setting }) => setting === name)
  return [
    ...formFaults,
    ...needs
      .filter(({ needed }) => !isUnreadable(needed))
      .flatMap((need) =>
        describeUnmetNeed(readableTexts, need).map((message) => ({
          setting: need.setting,
          message,
          isFatal: need.isFatal ?? false,
        })),
      ),
    ...conflicts.flatMap(({ setting, isFatal, describe }) =>
      describe(readableTexts, installation).map((message) => ({ setting, message, isFatal })),
    ),
  ]
}

const minNameLength = 8
const minLongNameLength = 12

const reduceName = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/**
 * True if someone who wrote the name probably meant the setting. Environments have many names of other programs, so the
 * first letter has to be right, and the rest has to be nearly right.
 */
function isMisspelt(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < minNameLength || name[0]?.toUpperCase() !== setting[0]) return false
  const [one, other] = [reduceName(name), reduceName(setting)]
  if (one === other || differByOneTypo(one, other)) return true
  if (setting.includes('_') && name.startsWith(`${setting}_`)) return true
  if (setting.startsWith(name) && name.length >= minLongNameLength) return true
  return (
    Math.min(one.length, other.length) >= minLongNameLength &&
    Math.abs(one.length - other.length) <= 2 &&
    countEdits(one, other) <= 2
  )
}

/** Finds names that are no settings, but look like a misspelt one. */
export function findMisspeltNames(names: readonly string[], otherNames: readonly string[] = []): SettingFault[] {
  const knownNames = [...settingNames, ...otherNames]
  return names
    .filter((name) => !knownNames.includes(name))
    .flatMap((name) => {
      const meant = knownNames.filter((setting) => isMisspelt(name, setting))
      const nearest = meant.toSorted((one, other) => countEdits(name, one) - countEdits(name, other))[0]
      return nearest === undefined
        ? []
        : [
            {
              setting: name,
              message: `${name} is no setting. Did you mean ${nearest}? Rename or remove it.`,
              isFatal: false,
            },
          ]
    })
}
