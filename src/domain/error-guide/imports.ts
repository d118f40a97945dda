import type { ErrorGuide } from './guide.ts'

const imports = '/v1/data-imports'
const anImport = '/v1/data-imports/imp_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

/** Refusals of imports of files. A refused request changes nothing. */
export const importErrors = {
  import_has_invalid_rows: {
    cause: 'Rows of the file have errors, so that their orders would be left out.',
    mend: 'Mend the rows, or send `skip_invalid_rows` with true: the orders of the other rows are imported.',
    example: {
      path: `${anImport}/start`,
      detail: '3 rows have errors. Mend them, or send skip_invalid_rows to leave their orders out.',
      extra: { invalid_rows: 3 },
    },
  },
  import_running: {
    cause: 'The orders of the import are being made.',
    mend: 'Wait for its end, or cancel it.',
    example: {
      path: `${anImport}/start`,
      detail: 'This import is running. Wait for its end, or cancel it.',
      extra: { current_status: 'importing' },
    },
  },
  import_limit: {
    cause: 'The organisation has as many imports under way as it may have at the same time.',
    mend: 'Wait until one of them is done, or cancel one. An import without a file can be created at any time.',
    example: { path: imports, detail: 'Two imports of this organisation are running already. Wait until one has finished.' },
  },
  column_mapping_incomplete: {
    cause: 'The columns of the file cannot be read as they are mapped. `errors` lists all of it.',
    mend: 'Mend each entry of `errors` by changing the column mappings, and process them again.',
    example: {
      path: `${anImport}/column-mappings/process`,
      detail: 'The column mappings are not complete.',
      errors: [
        {
          code: 'ambiguous_format',
          detail: 'The numbers of "Preis" can be read in two ways: "1.234" is 1234 or 1.234.',
          attr: 'mappings.4.transform',
          pointer: '#/mappings/4/transform',
        },
      ],
    },
  },
  import_data_deleted: {
    cause:
      'The file and the rows of an import are deleted 30 days after its end. The file goes at once where a person in it is erased.',
    mend: 'The counters of the import and its orders are still there. For the rows, look into the system that the file came from.',
    example: { path: `${anImport}/error-report`, detail: 'The file of this import was deleted.' },
  },
  product_mapping_incomplete: {
    cause: 'Some products of the file are neither mapped, nor to be made, nor ignored.',
    mend: 'Say of each product of `GET …/product-mappings?is_mapped=false` what it is.',
    example: { path: `${anImport}/start`, detail: '3 products are not mapped.', extra: { unmapped: 3 } },
  },
} as const satisfies Record<string, ErrorGuide>
