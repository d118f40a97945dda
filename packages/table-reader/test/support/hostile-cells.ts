/** Repeats a piece to the longest text that a cell can have. */
const length = 262_144

const repeat = (piece: string): string => piece.repeat(Math.floor(length / piece.length))

/** Pieces that can be read in several ways, with an end that fits none of them. */
const pieces = [
  ['00s000s', '0', '1.', '.', '1,', ',-', '- ', ' ', '\n', 'uk_a', '_a', 'a_', 'a-', '_', 'a ', 'a.', '1:', '1/'],
  ['@', 'a@', '@a.', '<', '<a', 'a <', '"', '""', "'", '(', '[', '!', '(+', '+ ', '00 ', '"\\', '/', '$', '€1'],
].flat()
/** Names of pieces, with cells of a quarter of a million characters that consist of them. */
export const texts = pieces.map(
  (piece) => [`${piece.slice(0, 2)}…`, `uk_${repeat(piece)}!!!`, `1 ${repeat(piece)}1`, repeat(piece)] as const,
)
