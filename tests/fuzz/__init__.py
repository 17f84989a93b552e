"""Every parser that meets the network, fed with damaged input for as long as one wants."""
