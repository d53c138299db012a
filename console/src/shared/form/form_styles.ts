// The styles of the components that only forms use.
// In the order in which Mantine has them, because later ones override earlier ones.
import '@mantine/core/styles/ActionIcon.css'
import '@mantine/core/styles/Container.css'
import '@mantine/core/styles/Divider.css'
import '@mantine/core/styles/Fieldset.css'
import '@mantine/core/styles/Grid.css'
import '@mantine/core/styles/List.css'
import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import '@mantine/core/styles/NumberInput.css'
import '@mantine/core/styles/Radio.css'
import '@mantine/core/styles/SimpleGrid.css'
import '@mantine/core/styles/Slider.css'
