import type { NewRecipient } from './sender.ts'

/**
 * Skips people whose address another recipient has, because several people may share a phone number, which gets one SMS.
 * Adds the addresses of the others to `takenAddresses`. `existingNumbers` are those of recipients who already exist.
 */
export const skipDuplicates = (
  people: readonly NewRecipient[],
  takenAddresses: Set<string | null>,
  existingNumbers: ReadonlySet<number>,
): NewRecipient[] =>
  people.map((person) => {
    // An existing recipient keeps the address of an earlier run, so this address is not taken.
    if (person.reason !== null || existingNumbers.has(person.n)) return person
    if (takenAddresses.has(person.address)) return { ...person, reason: 'duplicate_address' }
    takenAddresses.add(person.address)
    return person
  })
