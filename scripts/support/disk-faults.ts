const advice: readonly (readonly [RegExp, string])[] = [
  [/no space left on device|disk is full/i, 'The disk is full. Free space, or choose a folder on another disk.'],
  [
    /\bEACCES\b|\bEPERM\b/,
    'This user may not write there. Choose a folder that it may write to, or give it the right.',
  ],
  [/\bEROFS\b/, 'Nobody can write there. Choose a folder on another disk.'],
  [/\bENOTDIR\b|\bEEXIST\b/, 'A part of its path is a file. Choose another folder.'],
]

/** Says what to do about a fault of a disk or a folder. Null: it is another fault. */
export function adviseOnDisk(error: unknown): string | null {
  const text = error instanceof Error ? error.message : String(error)
  return advice.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
