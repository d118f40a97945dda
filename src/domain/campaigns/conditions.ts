/**
 * The conditions of blocks that a recipient fulfils are stored as one number: the bits of their positions among the
 * conditions that the campaign has ever had.
 */

/** JavaScript's bitwise operators have this many bits beside the sign. */
export const maxStoredConditions = 31

export const addPosition = (conditions: number, position: number): number => conditions | (1 << position)

export const hasPosition = (conditions: number, position: number): boolean => ((conditions >> position) & 1) === 1
