import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

/** Names with their values. A value that is null, undefined, false or '' is left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [label: string, value: ReactNode])[] }) => (
  <Table withRowBorders={false} verticalSpacing={3} horizontalSpacing={0} layout="auto">
    <Table.Tbody>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th scope="row" fw={400} c="dimmed" pr="md" className="nowrap" w={1} style={{ verticalAlign: 'top' }}>
              {label}
            </Table.Th>
            <Table.Td className="break">{value}</Table.Td>
          </Table.Tr>
        ))}
    </Table.Tbody>
  </Table>
)
